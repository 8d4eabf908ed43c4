"""What an agent asks is answered with buttons and modals, once, by who may."""
