/// The numbers of connections and requests that a server has had, and the most of them that there were at a time.
struct ServerTraffic {
    private(set) var acceptedConnections = 0
    private(set) var closedConnections = 0
    private(set) var peakConnections = 0
    private(set) var peakRequests = 0
    /// By their paths.
    private(set) var peak: [String: Int] = [:]
    private var active: [String: Int] = [:]
    private var activeRequests = 0

    /// - Parameter open: How many connections there are with this one.
    /// - Returns: The number of the connection.
    mutating func accept(open: Int) -> Int {
        acceptedConnections += 1
        peakConnections = max(peakConnections, open)
        return acceptedConnections
    }

    mutating func close() { closedConnections += 1 }

    mutating func begin(_ path: String) {
        activeRequests += 1
        peakRequests = max(peakRequests, activeRequests)
        active[path, default: 0] += 1
        peak[path] = max(peak[path] ?? 0, active[path] ?? 0)
    }

    mutating func finish(_ path: String) {
        activeRequests -= 1
        active[path, default: 1] -= 1
    }
}
