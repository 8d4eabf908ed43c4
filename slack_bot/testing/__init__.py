"""The test kit: an emulated Slack workspace, a scripted A2A agent and a virtual clock.

Public: for anybody who builds on Slack streaming or A2A.
"""
