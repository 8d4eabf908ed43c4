"""What outlives the process, behind small contracts."""
