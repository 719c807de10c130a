import CTransferLinux
import Synchronization
public import TransferCore

/// Sums the pieces of a file while its bytes pass in their order.
///
/// A writer that fills the file in another order doesn't call it, or calls it in vain: then ``list(of:)`` is `nil`, and the
/// file is read once more. Used on one thread at a time, and asked from others.
public final class PieceSums: Sendable {
    private struct State {
        var next: Int64 = 0
        var length = PieceSumList.shortestPiece
        /// The sums of the pieces that are whole.
        var sums: [UInt32] = []
        /// The sum of those bytes of the next piece that are there.
        var current: UInt32 = 0
        var isBroken = false
    }

    private let state = Mutex(State())

    public init() {}

    /// Takes the file's bytes from that offset on. The first ones of the file begin anew.
    public func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        guard !bytes.isEmpty else { return }
        state.withLock { state in
            if offset == 0 { state = State() }
            guard !state.isBroken else { return }
            guard offset == state.next else {
                state.isBroken = true
                state.sums = []
                return
            }
            var rest = bytes
            while !rest.isEmpty {
                if state.sums.count == PieceSumList.mostPieces { Self.halve(&state) }
                let room = state.length - state.next % state.length
                let count = Int(min(Int64(rest.count), room))
                state.current = CRC32C.sum(UnsafeRawBufferPointer(rebasing: rest[..<count]), after: state.current)
                state.next += Int64(count)
                if Int64(count) == room {
                    state.sums.append(state.current)
                    state.current = 0
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// - Returns: `nil` where other bytes than all those of a file of that size have passed, or not in their order.
    public func list(of size: Int64) -> PieceSumList? {
        state.withLock { state in
            guard !state.isBroken, state.next == size else { return nil }
            var sums = state.sums
            if size % state.length != 0 { sums.append(state.current) }
            return PieceSumList(length: state.length, size: size, sums: sums)
        }
    }

    /// Two pieces become one.
    private static func halve(_ state: inout State) {
        state.sums = stride(from: 0, to: state.sums.count, by: 2).map { index in
            CRC32C.joined(state.sums[index], state.sums[index + 1], length: state.length)
        }
        state.length *= 2
    }
}

/// CRC-32C: by the processor's instruction where it has one.
public enum CRC32C {
    private final class Tables: Sendable {
        let values: transfer_crc32c_tables

        init(allowsHardware: Bool) {
            var values = transfer_crc32c_tables()
            transfer_crc32c_make(&values, allowsHardware ? 1 : 0)
            self.values = values
        }
    }

    private static let tables = Tables(allowsHardware: true)
    private static let plainTables = Tables(allowsHardware: false)

    /// - Parameters:
    ///   - before: The sum of the bytes before; 0 where there are none.
    ///   - allowsHardware: Whether the processor's instruction may be used.
    public static func sum(
        _ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0, allowsHardware: Bool = true
    ) -> UInt32 {
        withUnsafePointer(to: (allowsHardware ? tables : plainTables).values) {
            transfer_crc32c($0, before, bytes.baseAddress, bytes.count)
        }
    }

    /// The sum of two pieces, one behind the other.
    ///
    /// - Parameter length: Bytes of the second.
    public static func joined(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        transfer_crc32c_shift(first, UInt64(length)) ^ second
    }
}
