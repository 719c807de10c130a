import FoundationEssentials
package import TransferCore
package import TransferCrypto
package import TransferEngine
package import TransferUpload

/// The record that an upload which was broken off leaves to the next attempt, in this process or another.
package struct UploadRecord: Sendable, Hashable, Codable {
    /// The source when the upload began: bytes, and nanoseconds since 1970.
    package var size: Int64
    package var modified: Int64
    /// `st_ctim`, in nanoseconds since 1970; earlier versions left it out.
    package var changed: Int64?
    /// Another file may have taken its name, with its times; left out by earlier versions too.
    package var inode: UInt64?
    /// The state that the protocol's dialogue wanted to keep; `nil` where only the file's version is known. Versions
    /// before the envelope wrote a text, which is read too.
    package var state: UploadState?
    /// Bytes that the server had when that was last known.
    package var confirmed: Int64
    /// Of a copy's source; `nil` for files.
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

    /// The record of a copy.
    package init(_ version: RemoteVersion?, state: UploadState?, confirmed: Int64) {
        size = version?.size ?? 0
        modified = 0
        remote = RemoteRecord(validator: version?.validator, labels: version?.labels, digest: nil)
        self.state = state
        self.confirmed = confirmed
    }

    /// The version of a copy's source that the upload began with.
    package var remoteVersion: RemoteVersion {
        RemoteVersion(size: size, validator: remote?.validator, labels: remote?.labels ?? RepresentationLabels())
    }

    package enum Likeness {
        case same
        /// It may have other bytes; but its server may have all of the former ones, and is asked first.
        case unclear
        case other
    }

    /// Whether the file has the bytes that the upload began with, as far as can be told.
    ///
    /// - Parameters:
    ///   - isVerified: They have the digest that was expected from the start.
    ///   - mustNotRepeat: What has been applied by its server isn't to be sent again, whatever happened to the file's name
    ///     or mode.
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

    /// Whether the server can be asked what it has.
    package var knowsTheWay: Bool { state?.canAsk == true }

    /// Whether an attempt left more than which version it began with.
    package var canGoOn: Bool { state != nil }

    /// Whether a server has something that it frees when it's told to.
    package var holdsSomething: Bool { state?.isHeld == true }

    package var text: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }

    package init?(text: String) {
        guard let record = try? JSONDecoder().decode(UploadRecord.self, from: Data(text.utf8)) else { return nil }
        self = record
    }
}

/// The facts of a copy's source that the next attempt goes by. A class, as most uploads have none.
package final class RemoteRecord: Sendable, Codable {
    /// The version that the copy began with, where its server told one.
    package let validator: Validator?
    /// What its server said of the file; left out by earlier versions.
    package let labels: RepresentationLabels?
    /// The digest of what was read of it, in its order.
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
