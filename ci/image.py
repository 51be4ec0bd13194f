#!/usr/bin/env python3
"""Writes an image for Docker and Podman that holds one program which needs no library.

Usage: image.py PROGRAM NAME:TAG FILE
"""

import hashlib
import io
import json
import platform
import sys
import tarfile

ID = 10001
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
USERS = f"root:x:0:0:root:/:\npleach:x:{ID}:{ID}:pleach:/home/pleach:\n"


def add(archive, name, content=b"", mode=0o644, owner=0):
    """Adds a file, or a folder where the name ends with a slash; equal input gives equal bytes."""
    entry = tarfile.TarInfo(name.rstrip("/"))
    entry.mode, entry.uid, entry.gid = mode, owner, owner
    if name.endswith("/"):
        entry.type = tarfile.DIRTYPE
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def main():
    if len(sys.argv) != 4 or ":" not in sys.argv[2]:
        sys.exit(__doc__.strip())
    _, program, name, file = sys.argv
    with open(program, "rb") as source:
        binary = source.read()

    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        for folder in ["etc/", "home/", "usr/", "usr/local/", "usr/local/bin/"]:
            add(archive, folder, mode=0o755)
        add(archive, "home/pleach/", mode=0o755, owner=ID)
        add(archive, "tmp/", mode=0o1777)
        add(archive, "etc/passwd", USERS.encode())
        add(archive, "usr/local/bin/pleach", binary, mode=0o755)

    content = layer.getvalue()
    config = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {
            "User": str(ID),
            "WorkingDir": "/home/pleach",
            "Entrypoint": ["/usr/local/bin/pleach"],
            "Env": ["PATH=/usr/local/bin"],
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(content).hexdigest()]},
    }
    config = json.dumps(config).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(file, "w") as archive:
        add(archive, config_name, config)
        add(archive, "layer.tar", content)
        add(archive, "manifest.json", json.dumps(manifest).encode())


if __name__ == "__main__":
    main()
