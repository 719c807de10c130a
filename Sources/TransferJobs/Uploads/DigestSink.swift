import TransferCore
import TransferCrypto
import TransferEngine

/// Hashes an answer as it comes; nothing of it is kept.
final class DigestSink: BodySink {
    /// The digest, for whoever hears of the exchange's end.
    ///
    /// `@unchecked Sendable`: the handler of an exchange's events has to be `Sendable` and keeps this one. The engine calls
    /// sink and events on the exchange's own loop, so that one thread touches the digest; a lock would be taken for each
    /// piece of the body.
    final class Outcome: @unchecked Sendable {
        private let algorithm: DigestAlgorithm
        fileprivate var digest: Digest?

        init(_ algorithm: DigestAlgorithm) {
            self.algorithm = algorithm
            begin()
        }

        fileprivate func begin() { digest = try? Digest(algorithm) }

        /// Of an answer that has come whole.
        func finish() -> Checksum? { digest.take().flatMap { try? $0.finish() } }
    }

    private(set) var position: Int64 = 0
    private let outcome: Outcome

    init(_ outcome: Outcome) { self.outcome = outcome }

    func begin(_ start: BodyStart) throws(TransferError) {
        position = 0
        outcome.begin()
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        position += Int64(bytes.count)
        outcome.digest?.update(bytes)
    }
}
