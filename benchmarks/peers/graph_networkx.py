"""networkx's count of triangles in seconds, for `cargo xtask bench graph`; prints a JSON document."""

import networkx
import triangles


def main():
    graph = networkx.Graph(triangles.edges())
    count = lambda: sum(networkx.triangles(graph).values()) // 3
    triangles.report("networkx", networkx.__version__, count)


if __name__ == "__main__":
    main()
