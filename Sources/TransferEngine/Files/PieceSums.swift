import CTransferLinux
import Synchronization
public import TransferCore

/// The sums of a file's pieces, computed while its bytes pass in their order.
///
/// A writer that fills the file in another order does not call it, or calls it without result: ``list(of:)`` is then
/// `nil`, and the file is read again. One thread at a time adds bytes, and any thread may read the sums.
public final class PieceSums: Sendable {
    private struct State {
        var next: Int64 = 0
        var length = PieceSumList.shortestPiece
        /// The sums of the complete pieces.
        var sums: [UInt32] = []
        /// The sum of the existing bytes of the next piece.
        var current: UInt32 = 0
        var isBroken = false
    }

    private let state = Mutex(State())

    /// Creates sums of no bytes.
    public init() {}

    /// Adds the file's bytes from that offset on. An offset of 0 begins anew.
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

    /// Returns the sums of a file.
    ///
    /// - Returns: `nil` unless exactly the bytes of a file of that size have passed in their order.
    public func list(of size: Int64) -> PieceSumList? {
        state.withLock { state in
            guard !state.isBroken, state.next == size else { return nil }
            var sums = state.sums
            if size % state.length != 0 { sums.append(state.current) }
            return PieceSumList(length: state.length, size: size, sums: sums)
        }
    }

    /// Joins pairs of pieces, so that half as many remain.
    private static func halve(_ state: inout State) {
        state.sums = stride(from: 0, to: state.sums.count, by: 2).map { index in
            CRC32C.joined(state.sums[index], state.sums[index + 1], length: state.length)
        }
        state.length *= 2
    }
}

/// CRC-32C, computed by the processor's instruction where it has one.
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

    /// Computes a sum.
    ///
    /// - Parameters:
    ///   - before: The sum of the preceding bytes; 0 where there are none.
    ///   - allowsHardware: Whether the processor's instruction may be used.
    public static func sum(
        _ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0, allowsHardware: Bool = true
    ) -> UInt32 {
        withUnsafePointer(to: (allowsHardware ? tables : plainTables).values) {
            transfer_crc32c($0, before, bytes.baseAddress, bytes.count)
        }
    }

    /// Computes the sum of two consecutive pieces.
    ///
    /// - Parameter length: The bytes of the second piece.
    public static func joined(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        transfer_crc32c_shift(first, UInt64(length)) ^ second
    }
}
