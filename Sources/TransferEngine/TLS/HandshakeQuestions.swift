import CTransferOpenSSL

/// The questions of one pool's handshakes that are answered outside them. They are used on the pool's loop.
final class HandshakeQuestions {
    let list = UnsafeMutablePointer<UnsafeMutablePointer<transfer_handshake>?>.allocate(capacity: 1)

    init() { list.initialize(to: nil) }

    deinit { list.deallocate() }

    /// Takes the next question.
    ///
    /// - Returns: The next exchange whose connection waits for a verdict.
    func next() -> ActiveExchange? {
        while let first = list.pointee {
            list.pointee = first.pointee.next
            first.pointee.next = nil
            guard let owner = first.pointee.owner else { continue }
            let exchange = Unmanaged<ActiveExchange>.fromOpaque(owner).takeUnretainedValue()
            if exchange.connection.handshake?.isSame(first) == true { return exchange }
        }
        return nil
    }
}
