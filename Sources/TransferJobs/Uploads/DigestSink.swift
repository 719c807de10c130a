package import TransferCore
import TransferCrypto
package import TransferEngine

/// A sink that hashes a response as it arrives and keeps none of it.
package final class DigestSink: BodySink {
    /// The digest, for the listener to the exchange's end.
    ///
    /// `@unchecked Sendable`: the handler of an exchange's events must be `Sendable`, and keeps this object. The engine
    /// calls the sink and the events on the exchange's own loop, so that only one thread uses the digest. A lock would
    /// be taken for each piece of the body.
    package final class Outcome: @unchecked Sendable {
        private let algorithm: DigestAlgorithm
        fileprivate var digest: Digest?

        package init(_ algorithm: DigestAlgorithm) {
            self.algorithm = algorithm
            begin()
        }

        fileprivate func begin() { digest = try? Digest(algorithm) }

        /// Returns the digest of a response that arrived completely.
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
