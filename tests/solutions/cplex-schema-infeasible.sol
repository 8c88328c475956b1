<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header
   problemName="infeasible.lp"
   solutionStatusValue="103"
   solutionStatusString="integer infeasible"/>
</CPLEXSolution>
