import CTransferLinux

/// An event of inotify(7).
struct InotifyEvent: Sendable, Hashable {
    struct Kind: OptionSet, Sendable, Hashable {
        let rawValue: UInt32
        static let closedAfterWriting = Kind(TRANSFER_IN_CLOSE_WRITE)
        static let movedFrom = Kind(TRANSFER_IN_MOVED_FROM)
        static let movedTo = Kind(TRANSFER_IN_MOVED_TO)
        static let made = Kind(TRANSFER_IN_CREATE)
        static let deleted = Kind(TRANSFER_IN_DELETE)
        static let selfDeleted = Kind(TRANSFER_IN_DELETE_SELF)
        static let selfMoved = Kind(TRANSFER_IN_MOVE_SELF)
        static let unmounted = Kind(TRANSFER_IN_UNMOUNT)
        static let overflow = Kind(TRANSFER_IN_Q_OVERFLOW)
        /// The watch has ended.
        static let ignored = Kind(TRANSFER_IN_IGNORED)
        /// The name is that of a folder.
        static let folder = Kind(TRANSFER_IN_ISDIR)

        init(rawValue: UInt32) { self.rawValue = rawValue }

        // Bit 31 does not fit into C's int, so the constants are converted by their bits.
        private init(_ mask: some BinaryInteger) { rawValue = UInt32(truncatingIfNeeded: mask) }
    }

    enum Name: Sendable, Hashable {
        /// The event is about the watched folder itself.
        case none
        case text(String)
        /// The name is not UTF-8; it has replacement characters.
        case broken(String)

        init(_ bytes: some Collection<UInt8>) {
            if bytes.isEmpty {
                self = .none
            } else if let text = String(validating: bytes, as: UTF8.self) {
                self = .text(text)
            } else {
                self = .broken(String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    var watch: Int32
    var kind: Kind
    var cookie: UInt32 = 0
    var name = Name.none

    /// The kernel's queue overflowed.
    static let overflowed = InotifyEvent(watch: -1, kind: .overflow)

    /// The events of a watched folder or a folder beneath it. `IN_MODIFY` is left out, since it would wake the process
    /// at every write, and so is `IN_ATTRIB`.
    static let mask =
        Kind([.closedAfterWriting, .movedFrom, .movedTo, .made, .deleted]).rawValue
        | UInt32(truncatingIfNeeded: TRANSFER_IN_ONLYDIR) | UInt32(truncatingIfNeeded: TRANSFER_IN_EXCL_UNLINK)

    /// The events that show that the watched folder, or a folder above it, is no longer at its place.
    static let placeMask =
        Kind([.selfDeleted, .selfMoved]).rawValue | UInt32(truncatingIfNeeded: TRANSFER_IN_ONLYDIR)

    /// The same events of a symbolic link itself.
    static let linkMask =
        Kind([.selfDeleted, .selfMoved]).rawValue | UInt32(truncatingIfNeeded: TRANSFER_IN_DONT_FOLLOW)

    /// The events of the nearest existing folder while the watched one is missing.
    static let arrivalMask = placeMask | Kind([.made, .movedTo]).rawValue

    /// Parses the events of one read(2). An incomplete event at the end is ignored, though the kernel never returns
    /// one.
    static func parse(_ buffer: UnsafeRawBufferPointer) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var offset = 0
        while offset + 16 <= buffer.count {
            let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            guard length <= buffer.count - offset - 16 else { break }
            // The name is padded with zeros.
            let name = buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    watch: buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                    kind: Kind(rawValue: buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)),
                    cookie: buffer.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self), name: Name(name)))
            offset += 16 + length
        }
        return events
    }
}
