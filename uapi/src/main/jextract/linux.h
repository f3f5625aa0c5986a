/* What irdma4j.uapi.linux is generated from: see README.md beside this file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/vfio.h>
#include <linux/iommufd.h>
