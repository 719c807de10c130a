import TransferCore
import TransferJobs
package import TransferStore

/// The rows of many jobs as one value of the database, in their order.
///
/// Jobs of one file mostly resemble each other, so each text is front-coded: the number of bytes that it shares with
/// the same text of the job before, then the bytes that follow. Numbers are LEB128. The first byte is the form's
/// version.
package struct JobPack {
    package private(set) var bytes: [UInt8] = [version]
    package private(set) var count = 0
    private var last = JobRow.empty

    package static let version: UInt8 = 1
    /// The one generation of a batch that is packed.
    package static let generation: Int64 = 1

    package mutating func add(_ row: JobRow) {
        let marks = Marks(row)
        bytes.append(marks.rawValue)
        if let span = row.span {
            put(span.line)
            put(span.column)
            put(span.length)
        }
        if let number = row.number { put(number) }
        put(row.priority)
        withUnsafeBytes(of: row.fingerprint.littleEndian) { bytes.append(contentsOf: $0) }
        put(row.identity, after: last.identity)
        put(row.origin, after: last.origin)
        put(row.destination, after: last.destination)
        put(row.text, after: last.text)
        put(row.network, after: last.network)
        if let places = row.networkPlaces { put(places, after: last.networkPlaces ?? "") }
        last = row
        count += 1
    }

    private mutating func put(_ number: Int) {
        var rest = UInt(bitPattern: number)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func put(_ text: String, after last: String) {
        let isPut: Void? = text.utf8.withContiguousStorageIfAvailable { text in
            let shared = last.utf8.withContiguousStorageIfAvailable { Self.shared(text, $0) } ?? 0
            put(shared)
            put(text.count - shared)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[shared...]))
        }
        guard isPut == nil else { return }
        put(0)
        put(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    private static func shared(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Int {
        let limit = min(one.count, other.count)
        var count = 0
        // The texts are compared eight bytes at a time, for as long as these are the same.
        let (first, second) = (UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other))
        while count + 8 <= limit,
            first.loadUnaligned(fromByteOffset: count, as: UInt64.self)
                == second.loadUnaligned(fromByteOffset: count, as: UInt64.self)
        { count += 8 }
        while count < limit, one[count] == other[count] { count += 1 }
        return count
    }

    /// Marks of a packed row: the columns that it has, and its kind.
    package struct Marks: OptionSet {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let span = Marks(rawValue: 1)
        package static let number = Marks(rawValue: 2)
        package static let secrets = Marks(rawValue: 4)
        package static let upload = Marks(rawValue: 8)
        package static let places = Marks(rawValue: 16)
    }
}

extension JobPack.Marks {
    package init(_ row: JobRow) {
        self = []
        if row.span != nil { insert(.span) }
        if row.number != nil { insert(.number) }
        if row.hasSecrets { insert(.secrets) }
        if row.isUpload { insert(.upload) }
        if row.networkPlaces != nil { insert(.places) }
    }
}

extension JobRow {
    fileprivate static let empty = JobRow(
        identity: "", priority: 0, origin: "", destination: "", text: "", fingerprint: 0, hasSecrets: false,
        isUpload: false, network: "")
}
