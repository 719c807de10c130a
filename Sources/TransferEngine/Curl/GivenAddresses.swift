import CTransferCurl
import DequeModule
import TransferCore
import TransferEventLoop

/// The names and addresses that a multi of libcurl's has in its cache.
///
/// libcurl looks at all of them at the end of each transfer for those that have become old, which for thousands of
/// servers costs more than the transfers: it's told to keep them (CURLOPT_DNS_CACHE_TIMEOUT), and here it's known which
/// are to be given anew, and which are to go.
struct GivenAddresses: Sendable {
    private static let limit = 256
    /// How long an answer of the name servers counts.
    private static let lifetime = Duration.seconds(30)

    private var given: [String: MonotonicTime] = [:]
    private var order = Deque<String>()

    /// Whether the multi has to be given the addresses of a name, again or for the first time.
    func isStale(_ key: String, now: MonotonicTime) -> Bool {
        guard let time = given[key] else { return true }
        return now - time > Self.lifetime
    }

    /// The multi has, or is about to have, an entry of `HOST:PORT`.
    ///
    /// - Returns: Entries of CURLOPT_RESOLVE(3) that take out what was given first where there are too many.
    mutating func note(_ key: String, now: MonotonicTime) -> [String] {
        if given.updateValue(now, forKey: key) == nil { order.append(key) }
        guard order.count > Self.limit, let oldest = order.popFirst() else { return [] }
        given[oldest] = nil
        return ["-\(oldest)"]
    }

    func has(_ key: String) -> Bool { given[key] != nil }
}

extension GivenAddresses {
    /// Gives a handle the addresses of its hop, and leaves it to us when they become old.
    ///
    /// - Parameter resolved: Entries for CURLOPT_RESOLVE.
    static func apply(_ resolved: [String], to handle: CurlHandle) throws(TransferError) {
        try handle.set(CURLOPT_DNS_CACHE_TIMEOUT, -1)
        try handle.set(CURLOPT_RESOLVE, list: resolved)
    }
}
