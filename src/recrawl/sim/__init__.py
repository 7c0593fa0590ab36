"""A seed -> a made-up web whose truth is known, to try and to prove the engine on."""
