"""What is fetched from addresses that an agent named: nobody may be led into the network of the bot."""
