/// The folders and symbolic links that a path passes through.
enum PathTrail {
    struct Step: Hashable, Sendable {
        var path: String
        var isLink: Bool
    }

    /// The most links that the kernel follows (path_resolution(7)).
    private static let mostLinks = 40

    /// Returns the existing folders and links from `/` on, without the path's own end.
    ///
    /// - Parameter path: An absolute path.
    static func steps(to path: String) -> [Step] {
        var steps = [Step(path: "/", isLink: false)]
        var here: [String] = []
        var names = Array(PathText.components(path).reversed())
        var links = 0
        while let name = names.popLast() {
            switch name {
            case ".": continue
            case "..":
                here = here.dropLast()
                continue
            default: break
            }
            let next = "/" + (here + [name]).joined(separator: "/")
            if let target = TextFile.link(next) {
                steps.append(Step(path: next, isLink: true))
                links += 1
                guard links <= mostLinks else { break }
                if target.utf8.first == UInt8(ascii: "/") { here = [] }
                names += PathText.components(target).reversed()
            } else {
                here.append(name)
                if !names.isEmpty { steps.append(Step(path: next, isLink: false)) }
            }
        }
        return steps
    }
}
