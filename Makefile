# make         builds in place: `import reverb_tf` works from the checkout
# make demo    installs what is missing, builds, trains a prioritized DQN on CartPole
# make test    installs what is missing, builds, runs every check (tools/check.sh)
# make peer    makes .peer, the environment with dm-reverb 0.14.0 that the interoperability tests use when it exists
# make tf-agents  runs the tests that need TF-Agents, TF-Agents' own of its use of reverb among them, on TensorFlow 2.21
# make tf-agents-tf215  the same on TensorFlow 2.15
# make matrix  builds the ops against TensorFlow 2.15 in an environment of its own and runs the tests of the graph side
# make wheel   a wheel in dist/
# make crash   kills a server that writes checkpoints, 200 times, and looks at what the next one loads
# A second run does only what has changed.

PYTHON := .venv/bin/python

.PHONY: all install build demo test peer wheel crash tf-agents tf-agents-tf215 matrix

all: build

install:
	@tools/install_packages.sh
	@tools/venv.sh

build: install
	@tools/build_in_place.sh

demo: build
	@$(PYTHON) -m examples.cartpole_dqn

test: install
	@tools/check.sh

peer: install
	@tools/peer.sh

tf-agents: build
	@tools/tf_agents.sh 2.21

tf-agents-tf215: install
	@tools/tf_agents.sh 2.15

matrix: install
	@tools/matrix.sh

crash: build
	@$(PYTHON) -m tests.python_api.crash_loop --kills 200

wheel: install
	@$(PYTHON) -m build --wheel --no-isolation --outdir dist .
