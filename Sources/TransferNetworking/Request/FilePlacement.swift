import Foundation
import Glibc
import TransferCore
import TransferEngine

/// The last step of a download: a complete file gets its name.
struct FilePlacement {
    let part: PartFile
    let target: URL
    let options: DownloadRequest.Options
    var files = FileManager.default

    /// A previous file is replaced in one step where that can be done, so that it isn't lost to a failed move.
    func perform() throws {
        var isFolder: ObjCBool = false
        let replaces = options.contains(.removePreviousFile)
        if replaces, files.fileExists(atPath: target.path, isDirectory: &isFolder), isFolder.boolValue {
            try files.removeItem(at: target)
        }
        if options.contains(.createIntermediateDirectories) {
            try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        // One of the program's own is to see, and may decide about, every step.
        guard files === FileManager.default else { return try moveByManager(replacing: replaces) }
        do throws(TransferError) {
            try part.rename(to: target.path, replacing: replaces)
        } catch {
            guard error.errno == EXDEV else { throw error }
            try moveAcross(replacing: replaces)
        }
    }

    private func moveByManager(replacing: Bool) throws {
        if replacing, files.fileExists(atPath: target.path) { try files.removeItem(at: target) }
        try files.moveItem(at: URL(fileURLWithPath: part.path), to: target)
    }

    /// To another file system: copied under another name first, so that the target never shows a part of it.
    private func moveAcross(replacing: Bool) throws {
        let beside = target.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).part")
        do {
            try FileManager.default.copyItem(atPath: part.path, toPath: beside.path)
            let copy = try PartFile.open(beside.path)
            try copy.rename(to: target.path, replacing: replacing)
        } catch {
            try? FileManager.default.removeItem(at: beside)
            throw error
        }
        part.remove()
    }
}
