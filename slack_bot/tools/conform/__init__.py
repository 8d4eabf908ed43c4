"""`slack-bot conform`: does an agent's answer get into Slack as it should?"""
