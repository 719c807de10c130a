import Synchronization
package import TransferCore
package import TransferUpload

/// The temporary S3 credentials that sources gave to this process. They are in memory only.
package final class S3CredentialMemory: Sendable {
    private struct Entry {
        var lease: S3CredentialLease
        var isRenewing = false
        /// The time before which the source is not asked again, in seconds since 1970.
        var next: Int64 = 0
    }

    private struct Failure {
        var error: TransferError
        var time: Int64
    }

    private struct State {
        var entries: [S3CredentialSource: Entry] = [:]
        var failures: [S3CredentialSource: Failure] = [:]
        var renew: (@Sendable (S3CredentialSource) -> Void)?
    }

    private let state = Mutex(State())

    /// The seconds between two attempts to renew credentials that can still be used, and those for which a final failure
    /// is the answer to every job.
    package static let pause: Int64 = 30

    /// The seconds for which a transient failure is the answer. Attempts of a job are at least about as far apart.
    package static let briefPause: Int64 = 2

    package init() {}

    /// Sets the closure that asks a source again. It is called without a lock, once for each renewal.
    package func onRenewal(_ renew: @escaping @Sendable (S3CredentialSource) -> Void) {
        state.withLock { $0.renew = renew }
    }

    /// Returns the credentials of a source, and has them renewed before they end.
    ///
    /// - Returns: `nil` if the source gave none, or if they have expired.
    package func current(_ source: S3CredentialSource, now: Int64) -> S3Credentials? {
        let (found, renew) = state.withLock { state -> (S3Credentials?, (@Sendable (S3CredentialSource) -> Void)?) in
            guard var entry = state.entries[source], entry.lease.isUsable(now: now) else { return (nil, nil) }
            guard entry.lease.isDue(now: now), !entry.isRenewing, now >= entry.next, let renew = state.renew else {
                return (entry.lease.credentials, nil)
            }
            entry.isRenewing = true
            state.entries[source] = entry
            return (entry.lease.credentials, renew)
        }
        renew?(source)
        return found
    }

    /// Returns the newest credentials of a source, also if they have expired. A server refuses older ones as well.
    package func newest(_ source: S3CredentialSource, now: Int64) -> S3Credentials? {
        current(source, now: now) ?? state.withLock { $0.entries[source]?.lease.credentials }
    }

    /// Whether a source has given credentials before.
    package func knows(_ source: S3CredentialSource) -> Bool { state.withLock { $0.entries[source] != nil } }

    /// Notes what a source gave. Credentials that are already due, such as short ones or the old ones again, are renewed
    /// after a pause: each request would ask the source otherwise.
    package func took(_ lease: S3CredentialLease, from source: S3CredentialSource, now: Int64) {
        state.withLock { state in
            state.failures[source] = nil
            state.entries[source] = Entry(lease: lease, next: lease.isDue(now: now) ? now + Self.pause : 0)
        }
    }

    /// Notes why a source gave nothing. Credentials that have not expired stay in use.
    package func failed(_ source: S3CredentialSource, _ error: TransferError, now: Int64) {
        state.withLock { state in
            state.failures[source] = Failure(error: error, time: now)
            state.entries[source]?.isRenewing = false
            state.entries[source]?.next = now + Self.pause
        }
    }

    /// Returns why a source gave nothing a moment ago. Thousands of jobs without credentials would ask it otherwise.
    package func failure(of source: S3CredentialSource, now: Int64) -> TransferError? {
        state.withLock { state in
            guard let failure = state.failures[source] else { return nil }
            let pause = failure.error.isTransient ? Self.briefPause : Self.pause
            // A clock that was set back does not prolong the pause.
            guard (0..<pause).contains(now - failure.time) else { return nil }
            return failure.error
        }
    }

    /// Notes that a server has refused credentials as expired: their source is asked again. A late refusal of older
    /// credentials leaves the newer ones in use.
    ///
    /// - Returns: Whether the source gave the credentials, or newer ones.
    @discardableResult package func expired(_ accessKey: String, of source: S3CredentialSource, now: Int64) -> Bool {
        state.withLock { state in
            guard let lease = state.entries[source]?.lease else { return false }
            if lease.credentials.accessKey == accessKey { state.entries[source]?.lease.expires = now }
            return true
        }
    }
}
