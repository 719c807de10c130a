import TransferCore
import TransferEngine

/// Jobs that have a slot and are about to be prepared by workers, and sources of uploads that are opened before there is
/// one.
struct Preparation {
    private var downloads: [DownloadPreparation] = []
    private(set) var uploads: [UploadPreparation] = []
    var ahead = SourcesAhead()
    /// Uploads whose source was opened before.
    private var opened: [(id: Int64, source: Result<OpenedSource, TransferError>)] = []

    /// One hop to a worker for several jobs, where several start together.
    private static let groupSize = 16

    mutating func add(_ download: DownloadPreparation) { downloads.append(download) }

    mutating func add(_ upload: UploadPreparation) { uploads.append(upload) }

    mutating func add(_ id: Int64, _ source: Result<OpenedSource, TransferError>) { opened.append((id, source)) }

    mutating func takeDownloads() -> [[DownloadPreparation]] {
        guard !downloads.isEmpty else { return [] }
        return Array(exchange(&downloads, with: []).pages(of: Self.groupSize))
    }

    /// Sources that are to be digested first take their time: each goes alone.
    mutating func takeDigested() -> [UploadPreparation] {
        guard uploads.contains(where: { $0.expected != nil }) else { return [] }
        let digested = uploads.filter { $0.expected != nil }
        uploads.removeAll { $0.expected != nil }
        return digested
    }

    mutating func takeUploads() -> [[UploadPreparation]] {
        guard !uploads.isEmpty else { return [] }
        return Array(exchange(&uploads, with: []).pages(of: Self.groupSize))
    }

    mutating func takeOpened() -> [(id: Int64, source: Result<OpenedSource, TransferError>)] {
        opened.isEmpty ? [] : exchange(&opened, with: [])
    }
}
