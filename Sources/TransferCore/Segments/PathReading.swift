/// The kernel's facts about the way to the server of a file, over all connections of the file.
public struct PathReading: Sendable, Hashable {
    /// The shortest round trip that was seen, in seconds: one without queues.
    public var roundTrip: Double
    /// Seconds that queues added to it at most since the last reading.
    public var delay: Double
    /// Segments that came out of order since the connections began: the sign of a loss.
    public var disordered: Int64

    public init(roundTrip: Double, delay: Double = 0, disordered: Int64 = 0) {
        self.roundTrip = roundTrip
        self.delay = delay
        self.disordered = disordered
    }
}
