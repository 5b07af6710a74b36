"""What leaves the building on our own account: git, and connections to addresses people gave.

Plain Python, no Django. `outside.git` is the only module that runs git; `outside.egress` is the
only one that opens a connection to an address that a user or an agent wrote down. Both refuse
before they act, and every refusal carries a sentence for people.
"""
