<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header
   problemName="unbounded.lp"
   solutionStatusValue="119"
   solutionStatusString="integer infeasible or unbounded"/>
</CPLEXSolution>
