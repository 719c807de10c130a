import Synchronization
import TransferCrypto

/// A cache of OCSP responses and revocation lists until newer ones exist. Both are bounded, so that no server can fill
/// the memory.
final class RevocationCache: Sendable {
    static let shared = RevocationCache()

    struct AnswerKey: Hashable {
        let certificate: [UInt8]
        /// The issuer's digest. A response counts because of its signer, and not every evaluation trusts the same
        /// issuer.
        let issuer: [UInt8]
    }

    private struct State {
        var answers: [AnswerKey: RevocationAnswer] = [:]
        var lists: [String: RevocationList] = [:]
        var listBytes = 0
    }

    private let maxAnswers: Int
    private let maxListBytes: Int
    private let state = Mutex(State())

    init(maxAnswers: Int = 512, maxListBytes: Int = 32 << 20) {
        self.maxAnswers = maxAnswers
        self.maxListBytes = maxListBytes
    }

    func answer(_ key: AnswerKey, at now: Int64) -> RevocationAnswer? {
        state.withLock { state in
            guard let answer = state.answers[key], let end = answer.nextUpdate, now < end else { return nil }
            return answer
        }
    }

    /// Keeps a response, unless it has no end or is "unknown". Without an end newer responses are always available (RFC
    /// 6960 §4.2.2.1), and "unknown" may change at any time.
    func keep(_ answer: RevocationAnswer, for key: AnswerKey, at now: Int64) {
        guard let end = answer.nextUpdate, end > now, answer.status != .unknown else { return }
        state.withLock { state in
            if state.answers.count >= maxAnswers, state.answers[key] == nil {
                let first = state.answers.min { ($0.value.nextUpdate ?? 0) < ($1.value.nextUpdate ?? 0) }
                if let first { state.answers[first.key] = nil }
            }
            state.answers[key] = answer
        }
    }

    func list(_ url: String, at now: Int64) -> RevocationList? {
        state.withLock { state in
            guard let list = state.lists[url], let end = list.nextUpdate, now < end else { return nil }
            return list
        }
    }

    func keep(_ list: RevocationList, from url: String, at now: Int64) {
        guard let end = list.nextUpdate, end > now, list.der.count <= maxListBytes else { return }
        state.withLock { state in
            let replaced = state.lists.updateValue(list, forKey: url)
            state.listBytes += list.der.count - (replaced?.der.count ?? 0)
            while state.listBytes > maxListBytes {
                let others = state.lists.filter { $0.key != url }
                guard let first = others.min(by: { ($0.value.nextUpdate ?? 0) < ($1.value.nextUpdate ?? 0) }) else {
                    break
                }
                state.lists[first.key] = nil
                state.listBytes -= first.value.der.count
            }
        }
    }
}
