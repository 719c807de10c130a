import CTransferCurl
import DequeModule
import TransferCore
import TransferEventLoop

/// The names and addresses in the cache of libcurl's multi handle.
///
/// libcurl checks all of them for their age at the end of each transfer, which for thousands of servers costs more than
/// the transfers. Therefore libcurl keeps them (CURLOPT_DNS_CACHE_TIMEOUT). This type decides which addresses are
/// renewed and which are removed.
struct GivenAddresses: Sendable {
    private static let limit = 256
    /// The time for which an answer of the name servers counts.
    private static let lifetime = Duration.seconds(30)

    private var given: [String: MonotonicTime] = [:]
    private var order = Deque<String>()

    /// Returns whether the multi must be given the addresses of a name, again or for the first time.
    func isStale(_ key: String, now: MonotonicTime) -> Bool {
        guard let time = given[key] else { return true }
        return now - time > Self.lifetime
    }

    /// Notes that the multi has, or is about to have, an entry of `HOST:PORT`.
    ///
    /// - Returns: Entries of CURLOPT_RESOLVE(3) that remove the oldest entries where there are too many.
    mutating func note(_ key: String, now: MonotonicTime) -> [String] {
        if given.updateValue(now, forKey: key) == nil { order.append(key) }
        guard order.count > Self.limit, let oldest = order.popFirst() else { return [] }
        given[oldest] = nil
        return ["-\(oldest)"]
    }

    func has(_ key: String) -> Bool { given[key] != nil }
}

extension GivenAddresses {
    /// Gives a handle the addresses of its hop, and switches off libcurl's own expiry.
    ///
    /// - Parameter resolved: The entries for CURLOPT_RESOLVE.
    static func apply(_ resolved: [String], to handle: CurlHandle) throws(TransferError) {
        try handle.set(CURLOPT_DNS_CACHE_TIMEOUT, -1)
        try handle.set(CURLOPT_RESOLVE, list: resolved)
    }
}
