package import TransferCore

/// A range of a file as a request's body, with bytes around it, such as a form's boundaries.
public struct SourcePart: Sendable {
    /// The file.
    public let file: SourceFile
    /// The range of the file's bytes; it lies within the file.
    public let range: Range<Int64>
    /// The bytes before the range.
    public let prefix: [UInt8]
    /// The bytes after the range.
    public let suffix: [UInt8]

    /// Creates a part.
    public init(_ file: SourceFile, range: Range<Int64>, prefix: [UInt8] = [], suffix: [UInt8] = []) {
        self.file = file
        self.range = range
        self.prefix = prefix
        self.suffix = suffix
    }

    /// The length of the body in bytes.
    public var length: Int64 { Int64(prefix.count) + range.upperBound - range.lowerBound + Int64(suffix.count) }

    /// Returns whether a read of so many bytes contains the last ones of the file's range.
    ///
    /// The file is then checked before they leave, because libcurl does not read again once it has the announced
    /// number.
    func isLast(_ count: Int, at offset: Int64) -> Bool {
        !file.isInMemory && offset - Int64(prefix.count) + Int64(count) >= range.upperBound - range.lowerBound
            && offset < Int64(prefix.count) + range.upperBound - range.lowerBound
    }

    var changed: TransferError {
        TransferError(.sourceChanged, "\(file.path) changed while it was being sent", isTransient: true)
    }

    /// Fills the buffer with the bytes at `offset` of the body.
    ///
    /// - Returns: The number of bytes; 0 at the end.
    /// - Throws: `sourceChanged` when the file has become shorter.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(TransferError) -> Int {
        let inFile = offset - Int64(prefix.count)
        if inFile < 0 { return Self.copy(prefix[Int(offset)...], to: buffer) }
        let size = range.upperBound - range.lowerBound
        if inFile >= size { return Self.copy(suffix[Int(inFile - size)...], to: buffer) }
        guard !buffer.isEmpty else { return 0 }
        // The read is limited to the announced length: a file that grew meanwhile would run into the following bytes.
        let wanted = Int(min(Int64(buffer.count), size - inFile))
        let place = range.lowerBound + inFile
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: place)
        guard count > 0 else { throw changed }
        if !file.isInMemory {
            file.sent.note(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: place, of: range.lowerBound)
        }
        return count
    }

    /// Returns the whole body, for a small part.
    ///
    /// - Throws: `sourceChanged` when the file has changed since its opening and was not read then.
    func bytes() throws(TransferError) -> [UInt8] {
        let length = Int(length)
        var failure: TransferError?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(TransferError) {
                while count < length {
                    let rest = UnsafeMutableRawBufferPointer(
                        UnsafeMutableBufferPointer(rebasing: buffer[count..<length]))
                    count += try read(into: rest, at: Int64(count))
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        if !file.isInMemory, file.look() != .same { throw changed }
        return bytes
    }

    private static func copy(_ bytes: ArraySlice<UInt8>, to buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(bytes.count, buffer.count)
        buffer.copyBytes(from: bytes.prefix(count))
        return count
    }
}
