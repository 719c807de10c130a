import Synchronization
package import TransferUpload

/// The temporary S3 credentials that sources gave to this process. They are in memory only.
package final class S3CredentialMemory: Sendable {
    private struct Entry {
        var lease: S3CredentialLease
        var isRenewing = false
        /// The time before which the source is not asked again, in seconds since 1970.
        var next: Int64 = 0
    }

    private struct State {
        var entries: [S3CredentialSource: Entry] = [:]
        var renew: (@Sendable (S3CredentialSource) -> Void)?
    }

    private let state = Mutex(State())

    /// The seconds between two attempts to renew credentials that can still be used.
    package static let pause: Int64 = 30

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

    /// Notes what a source gave.
    package func took(_ lease: S3CredentialLease, from source: S3CredentialSource) {
        state.withLock { $0.entries[source] = Entry(lease: lease) }
    }

    /// Notes that a source gave nothing. Credentials that have not expired stay in use.
    package func failed(_ source: S3CredentialSource, now: Int64) {
        state.withLock { state in
            state.entries[source]?.isRenewing = false
            state.entries[source]?.next = now + Self.pause
        }
    }

    /// Notes that a server has refused credentials as expired: their source is asked again. A late refusal of older
    /// credentials leaves the newer ones in use.
    package func expired(_ accessKey: String, of source: S3CredentialSource, now: Int64) {
        state.withLock { state in
            guard state.entries[source]?.lease.credentials.accessKey == accessKey else { return }
            state.entries[source]?.lease.expires = now
        }
    }
}
