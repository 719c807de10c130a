package import TransferCore

/// How much a job bears of an origin before it gives up.
package struct RetryHorizon: Sendable, Hashable {
    /// Attempts after the first.
    package var retries: Int
    /// The time that waits may take which the origin asks for.
    package var wait: Duration

    package init(_ rule: RetryRule) {
        retries = rule.limit
        wait = rule.limit > 0 && rule.honoursRetryAfter ? rule.longestWait : .zero
    }

    /// The most of both.
    package func widened(by other: RetryHorizon) -> RetryHorizon {
        var most = self
        most.retries = max(retries, other.retries)
        most.wait = max(wait, other.wait)
        return most
    }

    /// Whether the other one bears no more.
    package func covers(_ other: RetryHorizon) -> Bool { other.retries <= retries && other.wait <= wait }
}

extension CircuitBreaker {
    /// How much jobs bear together: as much as the most patient.
    package struct Patience: Sendable, Hashable {
        /// The patience of jobs that have to end; `nil` when there is none.
        package private(set) var ending: RetryHorizon?
        /// One of them may wait for ever.
        package var isEndless = false

        package mutating func add(_ patience: RetryHorizon, isEndless: Bool) {
            if isEndless {
                self.isEndless = true
            } else {
                widen(Patience(ending: patience))
            }
        }

        package mutating func widen(_ other: Patience) {
            isEndless = isEndless || other.isEndless
            guard let more = other.ending else { return }
            ending = ending?.widened(by: more) ?? more
        }
    }
}

extension TransferError {
    /// The server asked again when the time for that was used up.
    package func waitedTooLong(_ limit: Duration) -> TransferError {
        var error = self
        let why = error.errno == nil ? "the server goes on asking to wait" : "that went on"
        error.message += "; \(why), and \(DurationText.words(limit)) is the limit (retry.maxWait)"
        error.retryAfter = nil
        return error
    }

    /// With a wait that isn't longer than `limit`, and a message that says so.
    package func bounded(to limit: Duration) -> TransferError {
        guard let asked = retryAfter, asked > limit, limit > .zero else { return self }
        var error = self
        error.retryAfter = limit
        error.message +=
            " (asks to wait \(DurationText.words(asked)), waits \(DurationText.words(limit)) at most: retry.maxWait)"
        return error
    }
}
