<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header
   problemName="none.lp"
   solutionStatusValue="108"
   solutionStatusString="time limit exceeded, no integer solution"/>
</CPLEXSolution>
