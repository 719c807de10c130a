package import TransferCore

/// The observations of an origin by one of the workers that find its level (``ConcurrencyProbe``) together.
package struct OriginObservations: Sendable, Hashable {
    /// A transfer that was refused, or lost its connection.
    package struct Refusal: Sendable, Hashable {
        package let kind: ConcurrencyBackoff.Refusal
        /// The time when the transfer began.
        package var since: MonotonicTime

        package init(_ kind: ConcurrencyBackoff.Refusal, since: MonotonicTime) {
            self.kind = kind
            self.since = since
        }
    }

    /// The most refusals that are kept, because more add no information.
    private static let mostRefusals = 64

    /// The number of transfers that got their answers.
    package private(set) var ends = 0
    /// The bytes that they and other transfers moved.
    package private(set) var bytes: Int64 = 0
    package private(set) var refusals: [Refusal] = []

    package init() {}

    package mutating func answered() { ends += 1 }

    package mutating func moved(_ count: Int64) { bytes += count }

    package mutating func refused(_ refusal: Refusal) {
        if refusals.count < Self.mostRefusals { refusals.append(refusal) }
    }

    /// Returns the observations in the time of another clock.
    ///
    /// - Parameters:
    ///   - now: The present time of this clock.
    ///   - other: The present time of the other clock.
    package func reported(at now: MonotonicTime, as other: MonotonicTime) -> OriginObservations {
        var reported = self
        for index in reported.refusals.indices {
            reported.refusals[index].since = other + (refusals[index].since - now)
        }
        return reported
    }
}

extension ConcurrencyProbe {
    /// Takes the new observations of one of several processes.
    ///
    /// - Parameters:
    ///   - inUse: The places that all processes have.
    ///   - isFull: Whether they want more places than there are.
    package mutating func saw(_ seen: OriginObservations, inUse: Int, isFull: Bool, now: MonotonicTime) {
        for refusal in seen.refusals {
            refused(refusal.kind, inUse: inUse, since: refusal.since, now: now)
        }
        moved(seen.bytes)
        if seen.ends == 0 { look(isFull: isFull, now: now) }
        for _ in 0..<seen.ends { answered(isFull: isFull, now: now) }
    }
}
