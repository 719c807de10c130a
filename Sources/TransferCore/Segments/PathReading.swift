/// The kernel's data about the path to a file's server, over all connections of the file.
public struct PathReading: Sendable, Hashable {
    /// The shortest observed round trip in seconds, which is one without queues.
    public var roundTrip: Double
    /// The maximum delay in seconds that queues added since the last reading.
    public var delay: Double
    /// The number of segments that arrived out of order since the connections began, a sign of losses.
    public var disordered: Int64

    /// Creates a reading; times are in seconds.
    public init(roundTrip: Double, delay: Double = 0, disordered: Int64 = 0) {
        self.roundTrip = roundTrip
        self.delay = delay
        self.disordered = disordered
    }
}
