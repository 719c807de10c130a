/// One value of a form under construction. A class, as containers stay open while others are written.
final class FormNode {
    enum Content {
        /// Nothing was encoded, or a `nil` that's dropped.
        case empty
        case value(String)
        case array([FormNode])
        case object(Members)
    }

    /// Named nodes in the order in which they came.
    struct Members {
        private(set) var names: [String] = []
        private(set) var nodes: [FormNode] = []
        private var indices: [String: Int] = [:]

        /// The node of that name, made when there is none.
        mutating func node(_ name: String) -> FormNode {
            if let index = indices[name] { return nodes[index] }
            indices[name] = names.count
            names.append(name)
            nodes.append(FormNode())
            return nodes[nodes.count - 1]
        }
    }

    var content = Content.empty

    /// The node of a member; makes this an object.
    func member(_ name: String) -> FormNode {
        var members = Members()
        if case .object(let existing) = content { members = existing }
        // Out of the way first, so that the members are changed in place and not copied.
        content = .empty
        let node = members.node(name)
        content = .object(members)
        return node
    }

    /// A node at the end; makes this an array.
    func append() -> FormNode {
        var elements: [FormNode] = []
        if case .array(let existing) = content { elements = existing }
        content = .empty
        let node = FormNode()
        elements.append(node)
        content = .array(elements)
        return node
    }

    var count: Int {
        guard case .array(let elements) = content else { return 0 }
        return elements.count
    }

    func openObject() {
        if case .object = content { return }
        content = .object(Members())
    }

    func openArray() {
        if case .array = content { return }
        content = .array([])
    }
}

extension URLEncodedFormEncoder {
    /// - Throws: ``Error/invalidRootObject(_:)`` when the root has no names.
    func write(_ root: FormNode, of value: any Encodable) throws -> String {
        switch root.content {
        case .object(let members):
            return joined(zip(members.names, members.nodes).map { write($1, forKey: keyEncoding.encode($0)) })
        case .array, .value: throw Error.invalidRootObject("\(type(of: value))")
        case .empty:
            if value is any ExpressibleByNilLiteral { throw Error.invalidRootObject("\(type(of: value)): nil") }
            return ""
        }
    }

    private func write(_ node: FormNode, forKey key: String) -> String {
        switch node.content {
        case .empty: return ""
        case .value(let text):
            let space = spaceEncoding.text
            return "\(escaping.escape(key, space: space))=\(escaping.escape(text, space: space))"
        case .array(let elements):
            // What was dropped doesn't count, so that indices have no gaps.
            let present = elements.filter { if case .empty = $0.content { false } else { true } }
            // Never sorted: the order of an array means something.
            return present.enumerated().map { write($1, forKey: arrayEncoding.encode(key, atIndex: $0)) }
                .filter { !$0.isEmpty }.joined(separator: "&")
        case .object(let members):
            return joined(
                zip(members.names, members.nodes).map { name, node in
                    write(node, forKey: key + keyPathEncoding.encodeKeyPath(keyEncoding.encode(name)))
                })
        }
    }

    private func joined(_ pairs: [String]) -> String {
        let present = pairs.filter { !$0.isEmpty }
        return (alphabetizeKeyValuePairs ? present.sorted() : present).joined(separator: "&")
    }
}
