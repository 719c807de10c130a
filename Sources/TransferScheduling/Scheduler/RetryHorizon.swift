package import TransferCore

/// The patience of a job with an origin, before it gives up.
package struct RetryHorizon: Sendable, Hashable {
    /// The number of attempts after the first.
    package var retries: Int
    /// The total time of waits that the origin requests.
    package var wait: Duration

    package init(_ rule: RetryRule) {
        retries = rule.limit
        wait = rule.limit > 0 && rule.honoursRetryAfter ? rule.longestWait : .zero
    }

    /// Returns the greater value of both properties.
    package func widened(by other: RetryHorizon) -> RetryHorizon {
        var most = self
        most.retries = max(retries, other.retries)
        most.wait = max(wait, other.wait)
        return most
    }

    /// Returns whether the other patience is not greater.
    package func covers(_ other: RetryHorizon) -> Bool { other.retries <= retries && other.wait <= wait }
}

extension CircuitBreaker {
    /// The common patience of jobs, which is that of the most patient.
    package struct Patience: Sendable, Hashable {
        /// The patience of jobs that must end; `nil` if there are none.
        package private(set) var ending: RetryHorizon?
        /// Whether one of the jobs may wait for ever.
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
    /// Returns the error for a server that requested another wait after the time for waits was used up.
    package func waitedTooLong(_ limit: Duration) -> TransferError {
        var error = self
        let why = error.errno == nil ? "the server still asks to wait" : "the failure continued"
        error.message += "; \(why), and \(DurationText.words(limit)) is the limit (retry.maxWait)"
        error.retryAfter = nil
        return error
    }

    /// Returns the error with a wait of at most `limit`, and a message that mentions the limit.
    package func bounded(to limit: Duration) -> TransferError {
        guard let asked = retryAfter, asked > limit, limit > .zero else { return self }
        var error = self
        error.retryAfter = limit
        error.message +=
            " (asks to wait \(DurationText.words(asked)), waits \(DurationText.words(limit)) at most: retry.maxWait)"
        return error
    }
}
