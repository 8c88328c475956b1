<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolutions version="1.2">
<CPLEXSolution version="1.2">
 <header
   problemName="feasible.lp"
   solutionName="incumbent"
   solutionIndex="-1"
   objectiveValue="9"
   solutionStatusValue="107"
   solutionStatusString="time limit exceeded, integer feasible"/>
 <variables>
  <variable name="w" index="0" value="9"/>
  <variable name="x_0_1" index="1" value="1"/>
 </variables>
</CPLEXSolution>
<CPLEXSolution version="1.2">
 <header
   problemName="feasible.lp"
   solutionName="p1"
   solutionIndex="0"
   objectiveValue="12"
   solutionStatusValue="107"
   solutionStatusString="time limit exceeded, integer feasible"/>
 <variables>
  <variable name="w" index="0" value="12"/>
  <variable name="x_0_0" index="1" value="1"/>
 </variables>
</CPLEXSolution>
</CPLEXSolutions>
