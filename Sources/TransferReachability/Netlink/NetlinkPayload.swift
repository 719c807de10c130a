import Glibc

/// Bytes of a message, where each look is held to their bounds: what is not there is `nil`.
struct NetlinkPayload {
    private let raw: UnsafeRawBufferPointer

    init(_ raw: UnsafeRawBufferPointer) { self.raw = raw }

    var count: Int { raw.count }

    func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= raw.count - MemoryLayout<Value>.size else { return nil }
        return raw.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }

    /// The number at the beginning.
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type) -> Value? { integer(type, at: 0) }

    func part(_ range: Range<Int>) -> NetlinkPayload? {
        guard range.lowerBound >= 0, range.upperBound <= raw.count else { return nil }
        return NetlinkPayload(UnsafeRawBufferPointer(rebasing: raw[range]))
    }

    func part(from offset: Int) -> NetlinkPayload? { offset <= raw.count ? part(offset..<raw.count) : nil }

    var bytes: [UInt8] { Array(raw) }

    /// Up to the first zero byte.
    var text: String { String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self) }

    /// Calls `body` with each attribute (netlink(7)) from `offset` on; ends at the first that doesn't fit.
    func forEachAttribute(from offset: Int, _ body: (_ type: Int, _ value: NetlinkPayload) -> Void) {
        var offset = offset
        while let length = integer(UInt16.self, at: offset).map(Int.init), length >= 4,
            let type = integer(UInt16.self, at: offset + 2), let value = part(from: offset + 4)?.part(0..<length - 4)
        {
            // The two highest bits say how the value is written.
            body(Int(type & 0x3FFF), value)
            offset += (length + 3) & ~3
        }
    }
}
