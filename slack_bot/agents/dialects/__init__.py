"""How frameworks mark what is answer, narration, tool and plan."""
