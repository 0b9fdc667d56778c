"""Who may talk to whom: graphs, mixing weights, spectra, cuts."""

from tacit.network.cuts import small_vertex_cut
from tacit.network.files import read_graph, write_graph
from tacit.network.regular import well_connected
from tacit.network.spectrum import Spectrum, algebraic_connectivity, mixing_spectrum
from tacit.network.topology import Network, Topology
from tacit.network.tree import Tree
from tacit.network.weights import WEIGHTS, mixing_weights, own_weights

__all__ = [
    "WEIGHTS",
    "Network",
    "Spectrum",
    "Topology",
    "Tree",
    "algebraic_connectivity",
    "mixing_spectrum",
    "mixing_weights",
    "own_weights",
    "read_graph",
    "small_vertex_cut",
    "well_connected",
    "write_graph",
]
