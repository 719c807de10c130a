package import TransferCore
import TransferJobs
package import TransferStore

/// A reader that gives the rows of a ``JobPack``, one after the other.
package struct JobPackReader {
    private var cursor: Cursor
    // The texts of the row before, as bytes, because the part shared with the next row may end within a character.
    private var identity: [UInt8] = []
    private var origin: [UInt8] = []
    private var destination: [UInt8] = []
    private var text: [UInt8] = []
    private var network: [UInt8] = []
    private var places: [UInt8] = []

    /// - Throws: `TransferError` for the form of another version.
    package init(_ bytes: [UInt8]) throws(TransferError) {
        cursor = Cursor(bytes: bytes)
        guard try cursor.byte() == JobPack.version else {
            throw TransferError(.internalFault, "the queue holds jobs that a newer version has packed; use that one")
        }
    }

    /// - Returns: `nil` after the last row.
    /// - Throws: `TransferError` where the bytes are no pack.
    package mutating func next() throws(TransferError) -> JobRow? {
        guard !cursor.isAtEnd else { return nil }
        let marks = JobPack.Marks(rawValue: try cursor.byte())
        var span: SourceSpan?
        if marks.contains(.span) {
            span = SourceSpan(
                line: try cursor.number(), column: try cursor.number(), length: try cursor.number())
        }
        let number: Int? = marks.contains(.number) ? try cursor.number() : nil
        let priority = try cursor.number()
        var fingerprint: UInt64 = 0
        for position in 0..<8 { fingerprint |= UInt64(try cursor.byte()) << UInt64(8 * position) }
        try cursor.text(&identity)
        try cursor.text(&origin)
        try cursor.text(&destination)
        try cursor.text(&text)
        try cursor.text(&network)
        if marks.contains(.places) { try cursor.text(&places) } else { places = [] }
        return JobRow(
            identity: String(decoding: identity, as: UTF8.self), span: span, number: number, priority: priority,
            origin: String(decoding: origin, as: UTF8.self), destination: String(decoding: destination, as: UTF8.self),
            text: String(decoding: text, as: UTF8.self), fingerprint: Int64(bitPattern: fingerprint),
            hasSecrets: marks.contains(.secrets), isUpload: marks.contains(.upload),
            networkPlaces: marks.contains(.places) ? String(decoding: places, as: UTF8.self) : nil,
            network: String(decoding: network, as: UTF8.self))
    }

    private struct Cursor {
        let bytes: [UInt8]
        var index = 0
        var isAtEnd: Bool { index == bytes.count }

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func byte() throws(TransferError) -> UInt8 {
            guard index < bytes.count else { throw Self.damaged }
            defer { index += 1 }
            return bytes[index]
        }

        mutating func number() throws(TransferError) -> Int {
            var number: UInt = 0
            for shift in stride(from: 0, to: UInt.bitWidth, by: 7) {
                let byte = try byte()
                number |= UInt(byte & 0x7F) << UInt(shift)
                if byte < 0x80 { return Int(bitPattern: number) }
            }
            throw Self.damaged
        }

        /// Turns the text of the row before into that of this row.
        mutating func text(_ text: inout [UInt8]) throws(TransferError) {
            let shared = try number()
            let count = try number()
            guard 0...text.count ~= shared, 0...(bytes.count - index) ~= count else { throw Self.damaged }
            text.replaceSubrange(shared..., with: bytes[index..<index + count])
            index += count
        }

        private static let damaged = TransferError(
            .internalFault, "the queue's database holds a damaged pack of jobs")
    }
}
