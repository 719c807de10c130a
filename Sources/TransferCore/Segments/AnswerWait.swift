/// The time that a transfer waited for the first byte of its response, and the round trip of its connection.
package struct AnswerWait: Sendable, Hashable {
    /// The seconds from the request to the first byte.
    package let seconds: Double
    /// The round trip in seconds.
    package let roundTrip: Double

    package init(seconds: Double, roundTrip: Double) {
        self.seconds = seconds
        self.roundTrip = roundTrip
    }

    /// The shortest round trip that allows a conclusion; shorter ones are comparable to the server's own work.
    private static let shortest = 0.005
    /// The allowance beyond the round trip, for the server's work.
    private static let allowance = (factor: 1.25, seconds: 0.003)

    /// Whether nearly all of the wait was the round trip, so that neither the server nor the link was busy with other
    /// transfers.
    package var isPrompt: Bool {
        roundTrip >= Self.shortest && seconds <= roundTrip * Self.allowance.factor + Self.allowance.seconds
    }
}
