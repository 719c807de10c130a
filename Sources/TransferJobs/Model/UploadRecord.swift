import FoundationEssentials
package import TransferCore
package import TransferCrypto
package import TransferEngine
package import TransferUpload

/// The record of an interrupted upload for the next attempt, in this process or another.
package struct UploadRecord: Sendable, Hashable, Codable {
    /// The size of the source in bytes when the upload began; the times are in nanoseconds since 1970.
    package var size: Int64
    package var modified: Int64
    /// The change time (`st_ctim`) in nanoseconds since 1970; absent in records of earlier versions.
    package var changed: Int64?
    /// The inode, since another file may have taken the name together with the times; also absent in earlier records.
    package var inode: UInt64?
    /// The state that the protocol's dialogue saved; `nil` where only the file's version is known. Earlier versions
    /// wrote a text, which can still be read.
    package var state: UploadState?
    /// The number of bytes last confirmed by the server.
    package var confirmed: Int64
    /// The record of a copy's source; `nil` for files.
    package var remote: RemoteRecord?

    package init(_ file: SourceFile, state: UploadState?, confirmed: Int64) {
        self.init(file.stamp, state: state, confirmed: confirmed)
    }

    package init(_ stamp: FileStamp, state: UploadState?, confirmed: Int64) {
        size = stamp.size
        modified = stamp.modified
        changed = stamp.changed
        inode = stamp.inode
        self.state = state
        self.confirmed = confirmed
    }

    /// Creates the record of a copy.
    package init(_ version: RemoteVersion?, state: UploadState?, confirmed: Int64) {
        size = version?.size ?? 0
        modified = 0
        remote = RemoteRecord(validator: version?.validator, labels: version?.labels, digest: nil)
        self.state = state
        self.confirmed = confirmed
    }

    /// The version of a copy's source with which the upload began.
    package var remoteVersion: RemoteVersion {
        RemoteVersion(size: size, validator: remote?.validator, labels: remote?.labels ?? RepresentationLabels())
    }

    package enum Likeness {
        case same
        /// The bytes may differ. The server may already have all of the former ones, so it is asked first.
        case unclear
        case other
    }

    /// Returns whether the file still has the bytes with which the upload began, to the extent that this can be
    /// determined.
    ///
    /// - Parameters:
    ///   - isVerified: Whether the bytes match the digest that was required from the start.
    ///   - mustNotRepeat: Whether a request that the server has applied must not be repeated, even after changes of the
    ///     file's name or mode.
    package func likeness(to file: SourceFile, isVerified: Bool, mustNotRepeat: Bool) -> Likeness {
        guard size == file.size else { return .other }
        if isVerified { return .same }
        let began = FileStamp(inode: inode, size: size, modified: modified, changed: changed)
        switch began.likeness(to: file.stamp) {
        case .same: return .same
        case .touched:
            return mustNotRepeat && state?.mayBeComplete == true ? .unclear : .other
        case .retimed, .other: return .other
        }
    }

    /// Whether the server can be asked for its data.
    package var knowsTheWay: Bool { state?.canAsk == true }

    /// Whether an attempt left more than the version with which it began.
    package var canGoOn: Bool { state != nil }

    /// Whether a server holds data that it frees on request.
    package var holdsSomething: Bool { state?.isHeld == true }

    package var text: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }

    package init?(text: String) {
        guard let record = try? JSONDecoder().decode(UploadRecord.self, from: Data(text.utf8)) else { return nil }
        self = record
    }
}

/// The facts about a copy's source for the next attempt. A class, since most uploads have none.
package final class RemoteRecord: Sendable, Codable {
    /// The validator of the version with which the copy began, where its server reported one.
    package let validator: Validator?
    /// The server's metadata of the file; absent in records of earlier versions.
    package let labels: RepresentationLabels?
    /// The digest of the bytes read so far, in their order.
    package let digest: DurableDigest?

    package init(validator: Validator?, labels: RepresentationLabels? = nil, digest: DurableDigest?) {
        self.validator = validator
        self.labels = labels
        self.digest = digest
    }
}

extension RemoteRecord: Hashable {
    package static func == (one: RemoteRecord, other: RemoteRecord) -> Bool {
        one.validator == other.validator && one.labels == other.labels && one.digest == other.digest
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(validator) }
}
