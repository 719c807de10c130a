import TransferCore
import TransferQueue
import TransferWatch

/// The news of watched folders, as JSON Lines beside the queue's (`QueueJSON`).
///
/// Every line has `event`, `time`, `batch` (`watch:` and the folder) and `folder`; `path` is beneath the folder.
///
/// | `event`            | further fields                                                                       |
/// |--------------------|--------------------------------------------------------------------------------------|
/// | `watch.started`    | `url`: the template                                                                  |
/// | `watch.paused`     | at the start: nothing is uploaded until somebody resumes it                          |
/// | `watch.retargeted` | `from`: the template that it was watched with before                                 |
/// | `watch.found`      |                                                                                      |
/// | `watch.lost`       | `code` `message`                                                                     |
/// | `watch.returned`   |                                                                                      |
/// | `watch.polling`    | `reason` (`asked` `fileSystem` `limit` `unreadable`) `message`                         |
/// | `watch.overflowed` |                                                                                      |
/// | `watch.leftAlone`  | `path` `reason` (`linkLeadsOutside` `nameIsNotText` `sameFolder`) `message`            |
/// | `watch.caughtUp`   | `folders` `polledFolders` `unfinished`                                               |
/// | `watch.confirmed`  | `path` `url`                                                                         |
/// | `watch.moved`      | `path` `to`                                                                          |
/// | `watch.deleted`    | `path`                                                                               |
/// | `watch.stays`      | `path` `code` `message`, `again` where it is tried again                              |
/// | `watch.notUploaded`| `path` `sameAs`                                                                      |
/// | `watch.backlog`    | `waiting` `kept`                                                                     |
/// | `watch.holdsMore`  | `more`                                                                               |
/// | `watch.ended`      |                                                                                      |
enum WatchLines {
    static func append(_ notice: WatchNotice, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: line(notice).utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    static func line(_ notice: WatchNotice) -> String {
        JSONObject.text { object in
            object.field("event", name(notice.kind))
            object.field("time", time: notice.time)
            object.field("batch", notice.batch)
            object.field("folder", notice.folder)
            switch notice.kind {
            case .begins(let url): object.field("url", Redaction.url(url))
            case .ended: break
            case .reported(.watch(let event)): fields(event, &object)
            case .reported(.paused): break
            case .reported(.retargeted(let former)): object.field("from", former)
            case .reported(.confirmed(let path, let url)):
                object.field("path", path)
                object.field("url", Redaction.url(url))
            case .reported(.moved(let path, let destination)):
                object.field("path", path)
                object.field("to", destination)
            case .reported(.deleted(let path)): object.field("path", path)
            case .reported(.stays(let path, let error, let again)):
                object.field("path", path)
                fields(error, &object)
                object.optional("again", again)
            case .reported(.notUploaded(let path, let other)):
                object.field("path", path)
                object.field("sameAs", other)
            case .reported(.backlog(let waiting, let kept)):
                object.field("waiting", waiting)
                object.field("kept", kept)
            case .reported(.holdsMore(let more)): object.field("more", more)
            }
        }
    }

    private static func name(_ kind: WatchNotice.Kind) -> String {
        switch kind {
        case .begins: "watch.started"
        case .ended: "watch.ended"
        case .reported(.paused): "watch.paused"
        case .reported(.retargeted): "watch.retargeted"
        case .reported(.confirmed): "watch.confirmed"
        case .reported(.moved): "watch.moved"
        case .reported(.deleted): "watch.deleted"
        case .reported(.stays): "watch.stays"
        case .reported(.notUploaded): "watch.notUploaded"
        case .reported(.backlog): "watch.backlog"
        case .reported(.holdsMore): "watch.holdsMore"
        case .reported(.watch(.rootFound)): "watch.found"
        case .reported(.watch(.rootLost)): "watch.lost"
        case .reported(.watch(.rootReturned)): "watch.returned"
        case .reported(.watch(.polling)): "watch.polling"
        case .reported(.watch(.overflowed)): "watch.overflowed"
        case .reported(.watch(.leftAlone)): "watch.leftAlone"
        case .reported(.watch(.caughtUp)): "watch.caughtUp"
        }
    }

    private static func fields(_ event: WatchEvent, _ object: inout JSONObject) {
        switch event {
        case .rootFound, .rootReturned, .overflowed: break
        case .rootLost(let error): fields(error, &object)
        case .caughtUp(let summary):
            object.field("folders", summary.folders)
            object.field("polledFolders", summary.polledFolders)
            object.field("unfinished", summary.unfinished)
        case .polling(let reason):
            object.field("reason", name(reason))
            object.field("message", WatchText.reason(reason))
        case .leftAlone(let path, let reason):
            object.field("path", path)
            object.field("reason", name(reason))
            object.field("message", WatchText.reason(reason))
        }
    }

    private static func fields(_ error: TransferError, _ object: inout JSONObject) {
        object.field("code", error.code.rawValue)
        object.field("message", error.message)
    }

    private static func name(_ reason: PollingReason) -> String {
        switch reason {
        case .asked: "asked"
        case .fileSystem: "fileSystem"
        case .limit: "limit"
        case .unreadable: "unreadable"
        }
    }

    private static func name(_ reason: LeftAloneReason) -> String {
        switch reason {
        case .linkLeadsOutside: "linkLeadsOutside"
        case .nameIsNotText: "nameIsNotText"
        case .sameFolder: "sameFolder"
        }
    }
}
