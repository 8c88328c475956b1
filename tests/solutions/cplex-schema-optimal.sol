<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header
   problemName="optimal.lp"
   solutionName="incumbent"
   solutionIndex="-1"
   objectiveValue="6.75"
   solutionTypeValue="3"
   solutionTypeString="primal"
   solutionStatusValue="101"
   solutionStatusString="integer optimal solution"
   solutionMethodString="mip"
   primalFeasible="1"
   dualFeasible="1"
   MIPNodes="0"
   MIPIterations="3"
   writeLevel="1"/>
 <quality
   epInt="1.0000000000000001e-05"
   epRHS="9.9999999999999995e-07"
   maxIntInfeas="0"
   maxPrimalInfeas="0"
   maxX="6.75"
   maxSlack="400"/>
 <linearConstraints>
  <constraint name="identity" index="0" slack="0"/>
  <constraint name="place_0" index="1" slack="0"/>
  <constraint name="end_1" index="7" slack="0"/>
 </linearConstraints>
 <variables>
  <variable name="w" index="0" value="6.75"/>
  <variable name="moirai_g_0123456789abcdef" index="1" value="1"/>
  <variable name="moirai_c_fedcba9876543210" index="2" value="1"/>
  <variable name="moirai_o_paper_ports_tensor_resident_none" index="3" value="1"/>
  <variable name="x_0_0" index="4" value="1"/>
  <variable name="x_0_1" index="5" value="0"/>
  <variable name="x_1_0" index="6" value="-0"/>
  <variable name="x_1_1" index="7" value="0.99999999999999989"/>
  <variable name="s_1" index="8" value="5.5"/>
  <variable name="s_0" index="9" value="0"/>
  <variable name="y_0_0_1" index="10" value="1"/>
 </variables>
 <objectiveValues>
  <objective index="0" name="obj" value="6.75"/>
 </objectiveValues>
</CPLEXSolution>
