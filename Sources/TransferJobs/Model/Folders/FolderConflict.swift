package import TransferCore
import TransferWatch

/// A conflict between watched folders. It is judged by the places to which their paths lead, not by their spelling:
///
/// - a folder whose files are moved to a place that it watches itself
/// - a circle of moves through several watched folders
/// - one folder that is watched twice
/// - a folder within a watched one, where one of them moves or deletes files that the other still has to upload
///
/// The check is made when folders begin to be watched, at a reload, and before files are moved or deleted, since links
/// and mounts may change. It blocks.
package struct FolderConflict: Error, Sendable, Hashable {
    /// The watched folders of the conflict.
    package var folders: [String]
    /// The description in words, with advice.
    package var message: String

    /// Returns the first conflict among folders.
    ///
    /// - Parameters:
    ///   - specs: The folders, completed.
    ///   - place: A closure that finds the place of a path.
    package static func first(
        among specs: [WatchSpec], place: (String) -> FolderPlace? = FolderPlace.find
    ) -> FolderConflict? {
        let places = Places(specs, place)
        return moveInto(places) ?? overlap(places) ?? circle(places)
    }

    /// Checks one folder against others.
    ///
    /// - Returns: The first conflict that involves that folder.
    package static func first(of spec: WatchSpec, among others: [WatchSpec]) -> FolderConflict? {
        let all = [spec] + others.filter { $0.folder != spec.folder }
        // A single folder can conflict only with its own move.
        if all.count == 1, spec.then == .keep || spec.then == .delete { return nil }
        let places = Places(all, FolderPlace.find)
        return moveInto(places, only: 0) ?? overlap(places, only: 0) ?? circle(places, only: 0)
    }

    private struct Places {
        let specs: [WatchSpec]
        let folders: [FolderPlace?]
        let targets: [FolderPlace?]

        init(_ specs: [WatchSpec], _ place: (String) -> FolderPlace?) {
            self.specs = specs
            folders = specs.map { place($0.folder) }
            targets = specs.map { spec in
                if case .move(let target) = spec.then { place(target) } else { nil }
            }
        }

        /// Returns whether files that arrive at a place are uploaded by the folder with that index.
        func takes(_ index: Int, _ place: FolderPlace?) -> Bool {
            guard let folder = folders[index], let names = place?.path(from: folder) else { return false }
            let rules = specs[index].rules
            return names.isEmpty
                || names.indices.allSatisfy { rules.enters(folder: names[...$0].joined(separator: "/")) }
        }
    }

    private static func moveInto(_ places: Places, only: Int? = nil) -> FolderConflict? {
        let index = places.specs.indices.first { (only ?? $0) == $0 && places.takes($0, places.targets[$0]) }
        guard let index, case .move(let target) = places.specs[index].then else { return nil }
        let folder = places.specs[index].folder
        return FolderConflict(
            folders: [folder],
            message: "\(target) leads into the watched folder \(folder), so that what is moved there would be uploaded "
                + "again; name a folder outside of it, or exclude it")
    }

    private static func overlap(_ places: Places, only: Int? = nil) -> FolderConflict? {
        let specs = places.specs
        for outer in specs.indices {
            for inner in specs.indices where inner != outer && (only.map { $0 == outer || $0 == inner } ?? true) {
                guard let folder = places.folders[outer], let names = places.folders[inner]?.path(from: folder) else {
                    continue
                }
                let both = [specs[outer].folder, specs[inner].folder]
                if names.isEmpty {
                    return FolderConflict(
                        folders: both,
                        message: "\(both[0]) and \(both[1]) are the same folder, which can be watched once")
                }
                guard places.takes(outer, places.folders[inner]),
                    specs[outer].then != .keep || specs[inner].then != .keep
                else { continue }
                return FolderConflict(
                    folders: both,
                    message: "\(both[1]) is in \(both[0]), which is watched with its sub-folders: one would move or "
                        + "delete what the other has to upload; exclude it there, or keep the files of both")
            }
        }
        return nil
    }

    private static func circle(_ places: Places, only: Int? = nil) -> FolderConflict? {
        let specs = places.specs
        // A folder's files move to one place, which several nested watched folders may cover.
        let next = specs.indices.map { from in specs.indices.filter { places.takes($0, places.targets[from]) } }
        for start in specs.indices where (only ?? start) == start {
            var open = [[start]]
            var seen: Set<Int> = []
            while let path = open.popLast(), let last = path.last {
                for index in next[last] {
                    if index == start {
                        let folders = path.map { specs[$0].folder }
                        return FolderConflict(
                            folders: folders,
                            message: "files would be moved in a circle, and uploaded without end: "
                                + (folders + [specs[start].folder]).joined(separator: " -> ")
                                + "; have one of them move its files to a folder that is not watched")
                    }
                    if seen.insert(index).inserted { open.append(path + [index]) }
                }
            }
        }
        return nil
    }
}

extension FolderConflict {
    /// The conflict as an error for starting to watch, and for files that stay where they are.
    package var error: TransferError { TransferError(.invalidRequest, message) }

    /// Returns two folders whose files of the same name would replace each other at the server.
    ///
    /// - Parameter specs: The folders, completed.
    package static func sharedDestination(among specs: [WatchSpec]) -> FolderConflict? {
        var seen: [String: String] = [:]
        for spec in specs where !spec.upload.uploadProtocol.givesNames {
            guard let template = try? URLTemplate(URLSpelling.canonicalIfPossible(spec.url)), !template.needsDigest
            else { continue }
            let place = JobSpec.destinationKey(ofUploadTo: template.description, spec.settings)
            if let other = seen[place] {
                return FolderConflict(
                    folders: [other, spec.folder],
                    message: "\(other) and \(spec.folder) send to the same place, where files of one name would take "
                        + "each other's; give each a folder of its own in \"to\"")
            }
            seen[place] = spec.folder
        }
        return nil
    }
}
