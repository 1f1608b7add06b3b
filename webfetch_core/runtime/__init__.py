"""How providers are called: deadlines, slots, breakers, the network and its guard, worker processes."""
