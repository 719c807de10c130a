import TransferQueue

/// The treatment of a download whose file is that of an earlier one in the queue.
///
/// The name of a file belongs to one job. As in aria2, a download that failed or was removed gives its name back, and so
/// does one whose file is gone. The earlier job then begins anew with the new content.
enum AriaPlacement: Equatable {
    /// The earlier job begins anew, and continues its partial file.
    case again
    /// The new download gets a number in its name.
    case number
    case refuse

    /// Decides by the state of the earlier job.
    ///
    /// - Parameters:
    ///   - rule: The new download's treatment of an existing file.
    ///   - fileExists: Whether the earlier job's file exists.
    init(_ state: JobState, _ rule: JobSpec.IfExists, fileExists: Bool) {
        guard state.hasEnded else {
            self = rule == .fail ? .refuse : .number
            return
        }
        guard state == .done, fileExists else {
            self = .again
            return
        }
        switch rule {
        case .overwrite, .update: self = .again
        case .fail: self = .refuse
        default: self = .number
        }
    }

    /// Returns the treatment of an existing file that options of aria2 ask for.
    ///
    /// - Parameter current: The treatment by the other options.
    static func rule(_ options: [String: String], _ current: JobSpec.IfExists) -> JobSpec.IfExists {
        if current == .update { return .update }
        if options["allow-overwrite"] == "true" { return .overwrite }
        return options["auto-file-renaming"] == "false" ? .fail : .rename
    }
}
