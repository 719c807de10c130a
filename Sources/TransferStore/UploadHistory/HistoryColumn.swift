import TransferCore
import TransferWatch

/// A column of the upload history in every store: the only list of their names, in the order in which rows are read.
///
/// A store may spell a column in another way. The folder of a row is written with the row, and is not read.
package enum HistoryColumn: String, CaseIterable, Sendable {
    case id, device, inode, size, modified, path, url, state, job, digest, staged, confirmed, due, gone, changed
    case fingerprint
    case isRenamed = "is_renamed"
    case failures

    package enum Kind: Sendable { case number, flag, text }

    package var kind: Kind {
        switch self {
        case .path, .url, .digest: .text
        case .isRenamed: .flag
        case .id, .device, .inode, .size, .modified, .state, .job, .staged, .confirmed, .due, .gone, .changed,
            .fingerprint, .failures:
            .number
        }
    }

    package var mayBeNull: Bool {
        switch self {
        case .job, .digest, .confirmed, .due, .gone, .changed, .fingerprint: true
        case .id, .device, .inode, .size, .modified, .path, .url, .state, .staged, .isRenamed, .failures: false
        }
    }

    /// The columns of a written version, in their order. The store numbers the row itself.
    package static let written = allCases.filter { $0 != .id }

    private static let places = Dictionary(uniqueKeysWithValues: zip(allCases, 0...))

    /// The number of the column in a row that is read, counted from 0.
    package var place: Int { Self.places[self] ?? 0 }
}

extension UploadHistoryEntry {
    /// Creates a version from a row of a store.
    ///
    /// - Parameter value: A function that returns the row's value of a column.
    package init(_ value: (HistoryColumn) -> JobValue) {
        func bits(_ column: HistoryColumn) -> UInt64? { value(column).number.map { UInt64(bitPattern: $0) } }
        self.init(
            id: value(.id).number ?? 0,
            version: FileVersion(
                device: bits(.device) ?? 0, inode: bits(.inode) ?? 0, size: value(.size).number ?? 0,
                modified: value(.modified).number ?? 0, path: value(.path).text ?? "",
                changed: value(.changed).number),
            url: value(.url).text ?? "", state: HistoryState(rawValue: Int(value(.state).number ?? 0)) ?? .open,
            job: value(.job).number, digestText: value(.digest).text, fingerprint: bits(.fingerprint),
            staged: value(.staged).number ?? 0, confirmed: value(.confirmed).number, due: value(.due).number,
            gone: value(.gone).number, isRenamed: value(.isRenamed).isSet,
            failures: Int(value(.failures).number ?? 0))
    }

    /// Returns the value of a column.
    package func value(_ column: HistoryColumn) -> JobValue {
        switch column {
        case .id: .number(id)
        case .device: .number(version.deviceBits)
        case .inode: .number(version.inodeBits)
        case .size: .number(version.size)
        case .modified: .number(version.modified)
        case .path: .text(version.path)
        case .url: .text(url)
        case .state: JobValue(state.rawValue)
        case .job: JobValue(job)
        case .digest: JobValue(digestText)
        case .staged: .number(staged)
        case .confirmed: JobValue(confirmed)
        case .due: JobValue(due)
        case .gone: JobValue(gone)
        case .changed: JobValue(version.stamp.changed)
        case .fingerprint: JobValue(fingerprint.map { Int64(bitPattern: $0) })
        case .isRenamed: .flag(isRenamed)
        case .failures: JobValue(failures)
        }
    }
}

extension HistoryRow {
    /// Creates the row of a version.
    ///
    /// - Parameter isGivenUp: Whether the version's job was cancelled or may have arrived.
    package init(_ entry: UploadHistoryEntry, isGivenUp: Bool) {
        self.init(
            id: entry.id, version: entry.version, state: entry.state, digest: entry.digest, isGone: entry.gone != nil,
            staged: entry.staged, fingerprint: entry.fingerprint, isGivenUp: isGivenUp)
    }
}
