/// The numbers of a server's connections and requests so far, with their maxima at one time.
struct ServerTraffic {
    private(set) var acceptedConnections = 0
    private(set) var closedConnections = 0
    private(set) var peakConnections = 0
    private(set) var peakRequests = 0
    /// The maximum number of simultaneous requests, by their paths.
    private(set) var peak: [String: Int] = [:]
    private var active: [String: Int] = [:]
    private var activeRequests = 0

    /// Counts a connection.
    ///
    /// - Parameter open: The number of open connections, including this one.
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
