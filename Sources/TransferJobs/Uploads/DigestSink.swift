package import TransferCore
import TransferCrypto
package import TransferEngine

/// Hashes an answer as it comes; nothing of it is kept.
package final class DigestSink: BodySink {
    /// The digest, for whoever hears of the exchange's end.
    ///
    /// `@unchecked Sendable`: the handler of an exchange's events has to be `Sendable` and keeps this one. The engine calls
    /// sink and events on the exchange's own loop, so that one thread touches the digest; a lock would be taken for each
    /// piece of the body.
    package final class Outcome: @unchecked Sendable {
        private let algorithm: DigestAlgorithm
        fileprivate var digest: Digest?

        package init(_ algorithm: DigestAlgorithm) {
            self.algorithm = algorithm
            begin()
        }

        fileprivate func begin() { digest = try? Digest(algorithm) }

        /// Of an answer that has come whole.
        package func finish() -> Checksum? { digest.take().flatMap { try? $0.finish() } }
    }

    package private(set) var position: Int64 = 0
    private let outcome: Outcome

    package init(_ outcome: Outcome) { self.outcome = outcome }

    package func begin(_ start: BodyStart) throws(TransferError) {
        position = 0
        outcome.begin()
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        position += Int64(bytes.count)
        outcome.digest?.update(bytes)
    }
}
