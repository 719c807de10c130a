/// How long a transfer waited for the first byte of its answer, beside the round trip of its connection.
package struct AnswerWait: Sendable, Hashable {
    /// Seconds from the request to the first byte.
    package let seconds: Double
    /// Seconds.
    package let roundTrip: Double

    package init(seconds: Double, roundTrip: Double) {
        self.seconds = seconds
        self.roundTrip = roundTrip
    }

    /// Round trips shorter than this tell nothing: what a server does takes as long.
    private static let shortest = 0.005
    /// Beyond the round trip, for what the server does.
    private static let allowance = (factor: 1.25, seconds: 0.003)

    /// Whether nearly all of it was the way there and back: neither the server nor the link had others to serve first.
    package var isPrompt: Bool {
        roundTrip >= Self.shortest && seconds <= roundTrip * Self.allowance.factor + Self.allowance.seconds
    }
}
