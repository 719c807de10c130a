import Foundation
import TransferCore

/// A segment of an encoded form.
enum FormSegment: Sendable {
    case bytes(Data)
    case content(FormPart)

    var length: UInt64 {
        switch self {
        case .bytes(let data): UInt64(data.count)
        case .content(let part): part.length
        }
    }

    /// Opens the source of the segment's bytes. Files and streams are opened one after the other, so that a form of a
    /// thousand files holds one descriptor.
    func open() throws(BodyReadFailure) -> any ByteSource {
        switch self {
        case .bytes(let data): return DataSource(data)
        case .content(let part):
            switch part.content {
            case .bytes(let data): return DataSource(data)
            case .file(let path): return try FileSource(path, length: part.length)
            case .stream(let stream): return try stream.take(length: part.length)
            }
        }
    }

    var stream: OneTimeStream? {
        if case .content(let part) = self, case .stream(let stream) = part.content { return stream }
        return nil
    }
}

/// An encoded form as its segments, in order (RFC 2046 §5.1).
struct FormSegments: Sendable {
    let segments: [FormSegment]
    /// The length of the whole body, in bytes.
    let length: Int64

    /// - Throws: `invalidRequest` if the parts together are longer than a body can be.
    init(_ parts: [FormPart], boundary: String) throws(TransferError) {
        var segments: [FormSegment] = []
        for (index, part) in parts.enumerated() {
            let delimiter = index == 0 ? "--\(boundary)\r\n" : "\r\n--\(boundary)\r\n"
            segments.append(.bytes(Data(delimiter.utf8) + part.head))
            segments.append(.content(part))
        }
        if !parts.isEmpty { segments.append(.bytes(Data("\r\n--\(boundary)--\r\n".utf8))) }

        var length: UInt64 = 0
        for segment in segments {
            let (sum, overflows) = length.addingReportingOverflow(segment.length)
            guard !overflows, sum <= UInt64(Int64.max) else {
                throw TransferError(.invalidRequest, "the parts of the form are longer than a body can be")
            }
            length = sum
        }
        self.segments = segments
        self.length = Int64(length)
    }

    /// Whether the form can be read more than once.
    var isReplayable: Bool { segments.allSatisfy { $0.stream == nil } }

    var hasConsumedStream: Bool { segments.contains { $0.stream?.isTaken ?? false } }

    /// Passes the whole body to the closure, in pieces of at most `chunkSize` bytes.
    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let source = FormSource(segments)
        defer { source.close() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try source.read(into: buffer), count > 0 {
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    static let chunkSize = 256 * 1024
}
